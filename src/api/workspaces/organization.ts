/**
 * Reads the settings of an organization that workspaces inherit, such as the execution mode (wire/workspaces 1.5.1), and its lists:
 * once, and only if a plan depends on them.
 */
import { type Answer, describeAnswer, WireError } from '../../model/http.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json.ts';
import type { Session } from '../../model/kind.ts';
import { readPages } from '../read-pages.ts';

/** `/organizations/acme` */
export function organizationPath({ target }: Pick<Session, 'target'>): string {
  return `/organizations/${encodeURIComponent(target.organization ?? '')}`;
}

/** The answer about the organization itself, read once per session; undefined if there was none. */
export function organizationAnswer(session: Session): Promise<Answer | undefined> {
  return session.once('organization', async () => {
    try {
      return await session.reader.get(organizationPath(session));
    } catch (error) {
      if (error instanceof WireError) return undefined;
      throw error;
    }
  });
}

/** The document of the organization; undefined if it does not exist, or this token cannot read it. */
export async function readOrganization(session: Session): Promise<JsonObject | undefined> {
  const answer = await organizationAnswer(session);
  const data = answer?.status === 200 ? memberOf(answer.body, 'data') : undefined;
  return isJsonObject(data) ? data : undefined;
}

/**
 * Whether health assessments run in every workspace. False also if the document does not exist or this token cannot read it:
 * then the answers to writes show it.
 */
export async function enforcesAssessments(session: Session): Promise<boolean> {
  return (await organizationAttributes(session))?.['assessments-enforced'] === true;
}

/** The execution mode of workspaces if neither they nor their project have one; undefined if the answer has none. */
export async function organizationMode(session: Session): Promise<string | undefined> {
  const mode = (await organizationAttributes(session))?.['default-execution-mode'];
  return typeof mode === 'string' ? mode : undefined;
}

/** The id of the project of workspaces created without one; undefined if the answer has none. */
export function defaultProjectIn({ relationships = null }: JsonObject): string | undefined {
  const id = memberOf(memberOf(memberOf(relationships, 'default-project'), 'data'), 'id');
  return typeof id === 'string' ? id : undefined;
}

/** The id of the default agent pool in the relationships of an organization or a project. */
export function defaultPoolIn(relationships: Json | undefined): Json | undefined {
  return memberOf(memberOf(memberOf(relationships, 'default-agent-pool'), 'data'), 'id');
}

/** The ids of the agent pools of the organization; undefined if the list is not complete, or this token cannot read it. */
export async function agentPools(session: Session): Promise<ReadonlySet<string> | undefined> {
  const { items, problem } = await listOf(session, 'agent-pools');
  return problem === undefined ? new Set(items.map(({ id }) => String(id))) : undefined;
}

export interface OrganizationList {
  readonly items: readonly JsonObject[];
  /** the service's count */
  readonly total?: number;
  /** why something may be missing in it, as a clause */
  readonly problem?: string;
  /** the answer that was not a page of the list */
  readonly refusal?: Answer;
  /** the service answers 404: it has no such list, or hides it from this token */
  readonly isMissing?: true;
}

/** One list of the organization, such as its agent pools, read once per session. */
export function listOf(session: Session, type: string): Promise<OrganizationList> {
  return session.once(type, () => readList(session, type));
}

/** @param path below the organization, with the query for all pages */
export async function readList(
  session: Session,
  path: string,
  options?: Parameters<typeof readPages>[2],
): Promise<OrganizationList> {
  try {
    const read = await readPages(session.reader, `${organizationPath(session)}/${path}`, options);
    const { items, problem } = read;
    const total = read.total === undefined ? {} : { total: read.total };
    if (problem === undefined) return { items, ...total };
    if (typeof problem === 'string') return { items, ...total, problem };
    const isMissing = problem.status === 404 ? { isMissing: true as const } : {};
    return { items, ...total, problem: describeAnswer(problem), refusal: problem, ...isMissing };
  } catch (error) {
    if (error instanceof WireError) return { items: [], problem: error.message };
    throw error;
  }
}

/**
 * Whether the service is the hosted edition of its dialect, from the headers of this answer, with any status (wire/workspaces 1.6).
 * Undefined if the dialect has no such header, or there was no answer.
 */
export async function isHosted(session: Session): Promise<boolean | undefined> {
  if (session.dialect.hosted === undefined) return undefined;
  return session.once('hosted', async () => {
    try {
      return (await session.reader.get('/ping')).hosted === true;
    } catch (error) {
      if (error instanceof WireError) return undefined;
      throw error;
    }
  });
}

async function organizationAttributes(session: Session): Promise<JsonObject | undefined> {
  const { attributes } = (await readOrganization(session)) ?? {};
  return isJsonObject(attributes) ? attributes : undefined;
}
