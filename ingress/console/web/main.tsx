/** Entry of the console. */
import { render } from "preact";

import { App } from "./app.tsx";
import { showBidiControls } from "./parts/bidi.ts";
import { applyTheme } from "./parts/theme.ts";

const root = document.querySelector("#app");
if (root === null) throw new Error("index.html has no element #app");
applyTheme();
showBidiControls();
render(<App />, root);
