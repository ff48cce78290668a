/** Shows an error of a page in its place. After an upgrade, code of the previous release may be missing: the page then asks to reload. */
import { Component, type ComponentChildren } from "preact";

import { Callout } from "./parts/layers.tsx";

export class Boundary extends Component<{ readonly children: ComponentChildren }, { readonly error?: Error }> {
  static override getDerivedStateFromError(error: Error): { readonly error: Error } {
    return { error };
  }

  override render(): ComponentChildren {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    const isMissingCode = /import|module|chunk/i.test(error.message);
    return (
      <main class="page" id="main">
        <Callout tone={isMissingCode ? "" : "bad"}>
          {isMissingCode ? "A newer version of the console is installed." : `The page failed: ${error.message}`}{" "}
          <button type="button" class="link" onClick={() => location.reload()}>
            Reload
          </button>
        </Callout>
      </main>
    );
  }
}
