/** Checks of one call by the models that may serve it, each made once. */
import type { JobMessage } from "#schemas/generated/types.ts";
import { type CheckedMedia, type JobCheck, jobCheckOf } from "#shared/calls/kinds/media-check.ts";
import type { Model } from "#shared/calls/model.ts";

/**
 * That of the model asked for came with the job, from the entry that let it in. A fallback has other limits and another price, so the
 * call is checked by it when its turn comes; a job that an earlier version let in is checked by its own model too.
 */
export class CallChecks<Params, Request extends object = Readonly<Record<string, unknown>>> {
  /** The request without the check beside it. */
  readonly request: Request;
  private readonly check: (request: Request, model: Model) => CheckedMedia<Params>;
  /** By slug. */
  private readonly known = new Map<string, JobCheck<Params>>();

  constructor(job: JobMessage, check: (request: Request, model: Model) => CheckedMedia<Params>) {
    const { checked, ...request } = job.request ?? {};
    this.request = request as unknown as Request;
    this.check = check;
    if (job.checked === true) this.known.set(job.model, checked as JobCheck<Params>);
  }

  /** @throws ApiError naming the member that the model does not take */
  by(model: Model): JobCheck<Params> {
    return this.known.get(model.slug) ?? this.keep(this.check(this.request, model), model);
  }

  /** The whole check, from which a hold is made. @throws ApiError as `by` */
  anew(model: Model): CheckedMedia<Params> {
    const checked = this.check(this.request, model);
    this.keep(checked, model);
    return checked;
  }

  private keep(checked: CheckedMedia<Params>, model: Model): JobCheck<Params> {
    const kept = jobCheckOf(checked, model);
    this.known.set(model.slug, kept);
    return kept;
  }
}
