// A part's function runs again with every new data, and what it returned is called only when the part leaves the page. So whatever
// it lets listen outside of itself ends here before the next one listens: else one click is sent once for every click before it.
function onlyLast(root, leave) {
  root._leave?.();
  root._leave = leave;
  return leave;
}
