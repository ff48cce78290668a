/** The rules of a site for robots. For child processes only: strangers wrote them. */
import robotsParser from "robots-parser";

export interface RobotsTask {
  readonly robots: string;
  /** Address of the robots.txt. */
  readonly address: string;
  readonly url: string;
  readonly agent: string;
}

export function isVisitAllowed({ robots, address, url, agent }: RobotsTask): boolean {
  return robotsParser(address, robots).isAllowed(url, agent) ?? true;
}

export function sitemapsOf(robots: string, address: string): readonly string[] {
  return robotsParser(address, robots).getSitemaps();
}
