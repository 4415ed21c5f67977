/**
 * The event that started a job of GitHub Actions, as far as it names a pull request. `GITHUB_SHA` is a merge that was made for the
 * job; the commit of the pull request stands only here.
 */
import { megabyte, readRegularText } from '../../files/read-regular.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json/json.ts';
import type { CliHost } from '../cli-host.ts';

export interface ReviewEvent {
  readonly number?: number;
  readonly commit?: string;
}

/** Of a payload; GitHub's own limit is 25 megabytes. */
const maxSize = 32 * megabyte;

/** An event that cannot be read names no pull request: flags can. */
export async function readEvent({ env }: Pick<CliHost, 'env'>): Promise<ReviewEvent> {
  const file = env['GITHUB_EVENT_PATH'];
  if (file === undefined || file === '') return {};
  const text = await readRegularText(file, maxSize).catch(() => '');
  try {
    return eventIn(JSON.parse(text));
  } catch {
    return {};
  }
}

/** A comment is an event of an issue; only that of a pull request has this member. */
function eventIn(event: Json): ReviewEvent {
  const pull = memberOf(event, 'pull_request');
  const issue = memberOf(event, 'issue');
  const isPull = isJsonObject(memberOf(issue, 'pull_request'));
  const number = memberOf(pull, 'number') ?? (isPull ? memberOf(issue, 'number') : undefined);
  const commit = memberOf(memberOf(pull, 'head'), 'sha');
  return {
    ...(typeof number === 'number' ? { number } : {}),
    ...(typeof commit === 'string' && commit !== '' ? { commit } : {}),
  };
}
