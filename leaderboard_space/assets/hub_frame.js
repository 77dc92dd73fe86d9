// In the Hub's frame: each page tells the Hub's page its address, which becomes part of an address that can be shared.
// The Hub keeps a query and a fragment, so the path goes into the query, and a shared address leads on to its page.
"use strict";
if (window !== window.parent) {
  const hub = "https://huggingface.co";
  const place = "at";
  const lead = () => {
    const query = new URLSearchParams(location.search);
    const path = query.get(place);
    if (location.pathname !== "/" || !path?.startsWith("/")) return;
    const address = new URL(path, location.origin);
    if (address.origin !== location.origin) return;
    query.delete(place);
    address.search = query;
    address.hash = location.hash;
    location.replace(address.href);
  };
  const tell = () => {
    const query = new URLSearchParams(location.search);
    for (const name of [...query.keys()]) if (name.startsWith("__")) query.delete(name); // the Hub's own
    if (location.pathname !== "/") query.set(place, location.pathname);
    window.parent.postMessage({ queryString: query.toString(), hash: location.hash }, hub);
  };
  for (const name of ["pushState", "replaceState"]) {
    const change = history[name].bind(history);
    history[name] = (...state) => { change(...state); tell(); };
  }
  addEventListener("hashchange", tell);
  addEventListener("popstate", tell);
  lead();
  tell();
}
