"use strict";

/* Light or dark: as the system says, until the reader chooses. */
{
  const root = document.documentElement;
  const button = document.querySelector("button.theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const KEY = "cheatsheet-report-theme";

  const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";

  const tell = () => {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Show the page in ${isDark() ? "light" : "dark"} colours`);
  };

  const remembered = () => {
    try {
      return localStorage.getItem(KEY);
    } catch {
      return null; // the browser keeps nothing for files
    }
  };

  const remember = (theme) => {
    try {
      localStorage.setItem(KEY, theme);
    } catch {
      // The choice then holds until the page is closed.
    }
  };

  const chosen = remembered();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    remember(root.dataset.theme);
    tell();
  });
  system.addEventListener("change", tell);
  tell();
  button.hidden = false;
}
