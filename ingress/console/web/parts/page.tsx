/** Frame of a page: title with actions, and the list with its side sheet. */
import type { ComponentChildren, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { Link } from "wouter-preact";

import { session } from "../api/session.ts";
import { visibleText } from "./bidi.ts";
import { figureText } from "./format.ts";

export function Page({
  title,
  about,
  crumb,
  actions,
  isWide,
  sheet,
  children,
}: {
  readonly title: string;
  readonly about?: ComponentChildren;
  /** Links to the pages above this one. */
  readonly crumb?: ComponentChildren;
  /** At most two buttons and a menu. */
  readonly actions?: ComponentChildren;
  /** True for a page that takes the full width. */
  readonly isWide?: boolean;
  /** Open side sheet. */
  readonly sheet?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  useEffect(() => {
    document.title = visibleText([title, session.value?.workspace.name, "Sluice"].filter(Boolean).join(" · "));
  }, [title, session.value]);
  const main = (
    <main class={isWide === true ? "page wide" : "page"} id="main" tabIndex={-1}>
      <div class="title">
        <div>
          {crumb === undefined ? null : <div class="crumb">{crumb}</div>}
          <h1>{title}</h1>
          {about === undefined ? null : <p>{about}</p>}
        </div>
        {actions === undefined ? null : <div class="row">{actions}</div>}
      </div>
      {children}
    </main>
  );
  return (
    <div class={sheet === undefined ? "single" : "split"}>
      {main}
      {sheet}
    </div>
  );
}

/** Section of a page with its heading. */
export function Section({
  title,
  note,
  link,
  children,
}: {
  readonly title: string;
  readonly note?: ComponentChildren;
  readonly link?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="section">
      <div class="section-head">
        <h2>{title}</h2>
        {note === undefined ? null : <span class="muted">{note}</span>}
        {link === undefined ? null : <span class="push">{link}</span>}
      </div>
      {children}
    </section>
  );
}

/** Framed part of a page with its heading. */
export function Panel({
  title,
  note,
  link,
  children,
}: {
  readonly title: ComponentChildren;
  readonly note?: ComponentChildren;
  /** Element at the end of the heading, with the class `push`. */
  readonly link?: ComponentChildren;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <section class="panel">
      <header>
        <h2>{title}</h2>
        {note === undefined ? null : <span class="muted">{note}</span>}
        {link}
      </header>
      {children}
    </section>
  );
}

/** Views of one object, each at its own address. */
export function Tabs({
  label,
  current,
  tabs,
}: {
  readonly label: string;
  /** Address of the shown view. */
  readonly current: string;
  readonly tabs: readonly { readonly href: string; readonly text: string }[];
}): JSX.Element {
  return (
    <nav class="tabs" aria-label={label}>
      {tabs.map(({ href, text }) => (
        <Link key={href} href={href} aria-current={href === current ? "page" : undefined}>
          {text}
        </Link>
      ))}
    </nav>
  );
}

interface StatProps {
  readonly name: string;
  readonly figure: string;
  readonly unit?: string;
  readonly note?: ComponentChildren;
  /** Exact value. */
  readonly title?: string;
  /** Address of the counted rows, with `/console`. Absent if the figure counts the rows below it. */
  readonly href?: string;
}

/** Figure with its link: the number is the interface. */
export function Stat({ name, figure, unit, note, title, href }: StatProps): JSX.Element {
  const body = (
    <>
      <span class="name">{name}</span>
      <span class="figure" title={title}>
        {figure}
        {unit === undefined ? null : <small>{unit}</small>}
      </span>
      <span class="note">{note}</span>
    </>
  );
  if (href === undefined) return <div class="stat">{body}</div>;
  return (
    <Link class="stat" href={`~${href}`}>
      {body}
    </Link>
  );
}

/** Amount of credits as a figure. The exact amount is its tooltip. */
export function CreditStat({
  credits,
  ...stat
}: Omit<StatProps, "figure" | "unit" | "title"> & { readonly credits: number }): JSX.Element {
  return <Stat {...stat} figure={figureText(credits)} unit="credits" title={`${credits} credits`} />;
}
