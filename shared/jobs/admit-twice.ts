/** Repeats an admission whose response is lost: the same id is the same job. */
import { isDatabaseAway } from "#shared/database/client.ts";
import { ApiError } from "#shared/errors.ts";
import type { JobAdmission, JobRequest, JobVerdict } from "#shared/jobs/admission.ts";
import type { Logger } from "#shared/logger.ts";

/**
 * @param onRefused called if the job is certainly not admitted: the request did not reach the database
 * @throws ApiError `overloaded`; `service_unavailable` with the job's id and without retry, if the job may be admitted
 */
export async function admitTwice(
  { jobs, log }: { readonly jobs: JobAdmission; readonly log: Logger },
  job: JobRequest,
  onRefused: () => void,
): Promise<JobVerdict> {
  try {
    return await jobs.admit(job);
  } catch (error) {
    if (error instanceof ApiError) onRefused();
    if (!isDatabaseAway(error)) throw error;
    log.warn({ err: error, job_id: job.id }, "checking again whether a job was admitted");
  }
  try {
    return await jobs.admit(job);
  } catch (error) {
    const unknown = "The service does not know if the call was admitted";
    // The job of a stream cannot be queried.
    if (job.isHidden === true) {
      throw new ApiError("service_unavailable", `${unknown}.`, { shouldRetry: false, cause: error });
    }
    const message = `${unknown}. Before a retry, read job ${job.id} in a minute.`;
    throw new ApiError("service_unavailable", message, { shouldRetry: false, jobId: job.id, cause: error });
  }
}
