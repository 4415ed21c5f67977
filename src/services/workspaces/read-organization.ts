/** Reads what an organization has and says for all of its workspaces, and the edition of its service: once, and only if a plan depends on it. */
import { readPages } from '../../http/read-pages.ts';
import { isJsonObject, type Json, type JsonObject, memberOf } from '../../model/json/json.ts';
import type { Session } from '../../model/kind/kind.ts';
import { type Answer, WireError } from '../../model/wire.ts';

/** `/organizations/acme` */
export function organizationPath({ target }: Pick<Session, 'target'>): string {
  return `/organizations/${encodeURIComponent(target.organization ?? '')}`;
}

/** The answer about the organization itself, asked for once in a session; undefined where none came. */
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

/** The document of the organization; undefined where it does not exist, or this token cannot read it. */
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

/** The execution mode of workspaces for which neither they nor their project have one; undefined if it was not answered. */
export async function organizationMode(session: Session): Promise<string | undefined> {
  const mode = (await organizationAttributes(session))?.['default-execution-mode'];
  return typeof mode === 'string' ? mode : undefined;
}

/** The id of the project of workspaces that name none when they are created; undefined if the organization does not say it. */
export function defaultProjectIn({ relationships = null }: JsonObject): string | undefined {
  const id = memberOf(memberOf(memberOf(relationships, 'default-project'), 'data'), 'id');
  return typeof id === 'string' ? id : undefined;
}

/** The id of the default agent pool in the relationships of an organization or a project. */
export function defaultPoolIn(relationships: Json | undefined): Json | undefined {
  return memberOf(memberOf(memberOf(relationships, 'default-agent-pool'), 'data'), 'id');
}

/** The ids of the agent pools of the organization; undefined if the list is not complete, or this token cannot read it. */
export function agentPools(session: Session): Promise<ReadonlySet<string> | undefined> {
  return session.once('agent pools', async () => {
    try {
      const { items, complete } = await readPages(session.reader, `${organizationPath(session)}/agent-pools`);
      return complete ? new Set(items.map(({ id }) => String(id))) : undefined;
    } catch (error) {
      if (error instanceof WireError) return undefined;
      throw error;
    }
  });
}

/**
 * Whether the service is the hosted edition of its dialect. Its clients learn it from the headers of this answer, whatever its status
 * (wire/workspaces 1.6). Undefined where the dialect does not tell, or no answer came.
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
