/** What a site asks of robots. For child processes only: strangers wrote it. */
import robotsParser from "robots-parser";

export interface RobotsTask {
  readonly robots: string;
  /** Where it was found. */
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
