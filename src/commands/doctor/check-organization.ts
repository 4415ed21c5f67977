/** The checks of a target of workspaces: token, organization and dialect, all from the first page of its list of workspaces. */
import type { ReaderConnection } from '../../api/open-target.ts';
import { otherDialect, unconfirmedDialect } from '../../api/spoken-dialect.ts';
import { organizationPath } from '../../api/workspaces/organization.ts';
import { workspacesPath } from '../../api/workspaces/list-workspaces.ts';
import { type Answer, describeAnswer } from '../../model/http.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import { nearestWord } from '../../model/nearest-word.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import type { Dialect, Target } from '../../model/stack.ts';
import { type Finding, failed, info, ok, warning } from './finding.ts';

interface OrganizationQuestion {
  readonly target: Target;
  readonly dialect: Dialect;
  readonly connection: Pick<ReaderConnection, 'reader' | 'spokenDialect'>;
  /** the source of the token, as a clause */
  readonly tokenFrom: string;
}

export async function checkOrganization(question: OrganizationQuestion): Promise<Finding[]> {
  const { target, connection, tokenFrom } = question;
  const { reader } = connection;
  const name = quoted(target.organization ?? '');
  const list = await reader.get(`${workspacesPath({ target })}?page%5Bsize%5D=1`);
  if (list.status === 401) return [refusedToken(list, tokenFrom)];
  if (list.status === 404) return missingOrganization(question, list);
  const accepted = ok('token', `accepted; from ${tokenFrom}`);
  if (list.status !== 200)
    return [
      ...(list.status === 403 ? [accepted] : []),
      failed('place', {
        id: 'organization-refused',
        message: `the workspaces of organization ${name} cannot be listed: ${describeAnswer(list)}`,
        fix: 'give the token the right to read all workspaces of the organization',
      }),
    ];
  const documents = documentsIn(list);
  // Some services list nothing for an organization that does not exist.
  const organization = documents.length > 0 ? undefined : await reader.get(organizationPath({ target }));
  if (organization?.status === 404) return missingOrganization(question, organization);
  return [accepted, ok('place', `${name} can be read`), await dialectFinding(question)];
}

function refusedToken(answer: Answer, tokenFrom: string): Finding {
  return failed('token', {
    id: 'token-refused',
    message: `the service does not accept the token: ${describeAnswer(answer).replace(/; the token comes from .*$/, '')}`,
    fix: `put a token that is valid into ${tokenFrom}`,
  });
}

async function missingOrganization(
  { target, connection: { reader }, tokenFrom }: OrganizationQuestion,
  refusal: Answer,
): Promise<Finding[]> {
  const all = await reader.get('/organizations?page%5Bsize%5D=100');
  if (all.status === 401) return [refusedToken(all, tokenFrom)];
  const names = documentsIn(all).flatMap(({ id }) => (typeof id === 'string' ? id : []));
  const wanted = target.organization ?? '';
  const near = nearestWord(wanted, names);
  const hint =
    near !== undefined
      ? `did you mean ${quoted(near)}?`
      : names.length > 0
        ? `this token sees ${quoteSome(names, 5)}`
        : 'this token sees no organization';
  const why = describeAnswer(refusal);
  return [
    ...(all.status === 200 ? [ok('token', `accepted; from ${tokenFrom}`)] : []),
    failed('place', {
      id: 'organization-missing',
      message: `there is no organization ${quoted(wanted)}, or this token cannot see it: ${why}`,
      fix: `correct "organization" of the target, or use a token of its members: ${hint}`,
    }),
  ];
}

function documentsIn({ body }: Answer): Readonly<Record<string, Json>>[] {
  const data = memberOf(body, 'data');
  return Array.isArray(data) ? data.filter(isJsonObject) : [];
}

// The dialect, from the first workspace, a header, or the host.

async function dialectFinding({ target, dialect, connection }: OrganizationQuestion): Promise<Finding> {
  const { spokenDialect, reader } = connection;
  // Without a workspace, the answer to this request may show it.
  if (spokenDialect() === undefined) await reader.get('/ping');
  const spoken = spokenDialect();
  const problem = otherDialect(target, spoken);
  if (problem !== undefined)
    return spoken?.isCertain === false
      ? warning('dialect', { id: 'dialect-unknown', ...problem })
      : failed('dialect', { id: 'dialect-differs', ...problem });
  if (spoken !== undefined) return ok('dialect', target.dialect);
  const doubt = unconfirmedDialect(dialect);
  if (doubt !== undefined) return warning('dialect', { id: 'dialect-unknown', ...doubt });
  return info('dialect', {
    id: 'dialect-unknown',
    message: `${quoted(target.dialect)} is not confirmed: only a workspace shows it, and there is none`,
  });
}
