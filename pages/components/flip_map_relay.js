export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const pass = (event) => setTriggerValue(event.detail.kind, event.detail);
  const leave = onlyLast(parentElement, () => window.removeEventListener("flipscope-map", pass));
  window.addEventListener("flipscope-map", pass);
  window.flipscopeMapSelected = data.selected;
  window.dispatchEvent(new Event("flipscope-map-selected"));
  if (!data.n_selected) window.dispatchEvent(new Event("flipscope-map-cleared"));
  return () => { leave(); window.flipscopeMapSelected = null; };
}
