/** Part of React that the test of forms calls; its own types would redefine those of the browser for the whole project. */
declare module "react" {
  export type ComponentType<P> = (props: P) => unknown;
  export function createElement<P>(type: ComponentType<P>, props: P): object;
}

declare module "react-dom/server" {
  export function renderToStaticMarkup(element: object): string;
}
