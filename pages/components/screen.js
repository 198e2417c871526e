export default function (component) {
  offerSaving(component.data);
  const style = document.documentElement.style;
  style.setProperty("--page", component.data.page);
  style.setProperty("--line", component.data.line);
  style.setProperty("--muted", component.data.muted);
  document.documentElement.dataset.view = component.data.view;

  // When the theme changes, Streamlit's own colours change at once. Python's colours need a new drawing of the page, so ask for it.
  const app = document.querySelector("[data-testid=stApp]");
  const isDark = () => Number(/[0-9]+/.exec(getComputedStyle(app).backgroundColor)) < 128;
  let last = app && isDark();
  const follow = () => requestAnimationFrame(() => {
    if (isDark() === last) return;
    last = !last;
    component.setTriggerValue("theme", last);
  });
  const watch = new MutationObserver(follow);
  if (app) watch.observe(app, { attributes: true, attributeFilter: ["class"] });
  return onlyLast(component.parentElement, () => watch.disconnect());
}
