// Streamlit runs a component's function again with all new data, but calls the function that it returned only when the component leaves
// the page. So remove the listeners of the previous run here. Otherwise each run adds one more listener, and a click is sent many times.
function onlyLast(root, leave) {
  root._leave?.();
  root._leave = leave;
  return leave;
}
