"""Train ARES in stages: data, experts, fusion, routers, calibration."""
