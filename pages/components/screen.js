export default function (component) {
  offerSaving(component.data);
  const style = document.documentElement.style;
  style.setProperty("--page", component.data.page);
  style.setProperty("--line", component.data.line);
  style.setProperty("--muted", component.data.muted);
  document.documentElement.dataset.view = component.data.view;

  // somebody changed the theme: Streamlit's own colours follow at once, those that Python chose when the page is drawn again
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
