from tests.benchmarks.gpu.measuring import main

main()
