/** Entry of the console. */
import { render } from "preact";

import { App } from "./app.tsx";
import "./parts/theme.ts";

const root = document.querySelector("#app");
if (root === null) throw new Error("index.html has no element #app");
render(<App />, root);
