/** Pages of the navigation in their groups. */
import type { JSX } from "preact";
import { Link } from "wouter-preact";

import { countText } from "./format.ts";
import { Icon, type IconName } from "./icon.tsx";

interface NavPage {
  readonly href: string;
  readonly name: string;
  /** Heading above the pages of the group; "" for none. */
  readonly group: string;
  readonly icon: IconName;
  /** Number of objects on the page that wait for a person. */
  readonly count?: number | undefined;
}

export function NavList({
  pages,
  isCurrent,
}: {
  readonly pages: readonly NavPage[];
  readonly isCurrent: (href: string) => boolean;
}): JSX.Element {
  return (
    <div class="nav-list">
      {[...Map.groupBy(pages, ({ group }) => group)].map(([group, entries]) => (
        <div key={group}>
          {group === "" ? null : <p class="nav-head">{group}</p>}
          <ul>
            {entries.map(({ href, name, icon, count = 0 }) => (
              <li key={href}>
                <Link
                  href={href}
                  aria-current={isCurrent(href) ? "page" : undefined}
                  onClick={() => document.querySelector<HTMLElement>("#nav:popover-open")?.hidePopover()}
                >
                  <Icon name={icon} />
                  {name}
                  {count === 0 ? null : (
                    <>
                      {" "}
                      <span class="count bad">
                        {countText(count)}
                        <span class="sr"> open</span>
                      </span>
                    </>
                  )}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
    </div>
  );
}
