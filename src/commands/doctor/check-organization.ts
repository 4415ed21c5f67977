/**
 * The checks of a target of workspaces: token, organization and dialect, all from the first page of its list of workspaces. The
 * reader must give the names as the service writes them, or the dialect could not be told.
 */
import { dialects } from '../../api/dialects.ts';
import { organizationPath } from '../../api/workspaces/organization.ts';
import { workspacesPath } from '../../api/workspaces/list-workspaces.ts';
import { type Answer, describeAnswer, type Reader } from '../../model/http.ts';
import { isJsonObject, type Json, memberOf } from '../../model/json.ts';
import { nearestWord } from '../../model/nearest-word.ts';
import { quoted, quoteSome } from '../../model/quoted.ts';
import type { Dialect, Target } from '../../model/stack.ts';
import { type Finding, failed, info, ok } from './finding.ts';

interface OrganizationQuestion {
  readonly target: Target;
  readonly dialect: Dialect;
  /** with the names of the service */
  readonly reader: Reader;
  /** the source of the token, as a clause */
  readonly tokenFrom: string;
}

export async function checkOrganization(question: OrganizationQuestion): Promise<Finding[]> {
  const { target, reader, tokenFrom } = question;
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
  return [accepted, ok('place', `${name} can be read`), dialectFinding(question, documents)];
}

function refusedToken(answer: Answer, tokenFrom: string): Finding {
  return failed('token', {
    id: 'token-refused',
    message: `the service does not accept the token: ${describeAnswer(answer).replace(/; the token comes from .*$/, '')}`,
    fix: `put a token that is valid into ${tokenFrom}`,
  });
}

async function missingOrganization(
  { target, reader, tokenFrom }: OrganizationQuestion,
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

// The dialect, told from the names of members in a workspace, or from the host.

function dialectFinding(
  { target, dialect }: OrganizationQuestion,
  documents: readonly Readonly<Record<string, Json>>[],
): Finding {
  const known = [...dialects.values()].filter(({ service }) => service === dialect.service);
  const byHost = known.find(({ hosted }) => hosted?.hosts.has(new URL(target.url).hostname));
  if (byHost !== undefined && byHost !== dialect)
    return otherDialect(target, byHost, `the host is one of ${byHost.spokenBy}`);
  const attributes = documents[0]?.['attributes'];
  if (!isJsonObject(attributes)) {
    return byHost === dialect
      ? ok('dialect', dialect.name)
      : info('dialect', {
          id: 'dialect-unknown',
          message: `${quoted(dialect.name)} is not confirmed: only a workspace shows it, and there is none`,
        });
  }
  const neutralNames = [...new Set(known.flatMap(({ rename }) => Object.keys(rename)))];
  const found = (one: Dialect) =>
    neutralNames.map((name) => one.rename[name] ?? name).filter((name) => attributes[name] !== undefined);
  const [best] = known.toSorted((one, other) => found(other).length - found(one).length);
  if (best === undefined || found(best).length <= found(dialect).length) return ok('dialect', dialect.name);
  return otherDialect(target, best, `a workspace has ${quoteSome(found(best), 3)}`);
}

function otherDialect(target: Target, { name }: Dialect, sign: string): Finding {
  return failed('dialect', {
    id: 'dialect-differs',
    message: `the target has the dialect ${quoted(target.dialect)}, and the service speaks ${quoted(name)}: ${sign}`,
    fix: `write ${quoted(`dialect: ${name}`)} into the target`,
  });
}
