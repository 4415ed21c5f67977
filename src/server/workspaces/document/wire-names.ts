/**
 * The attributes of a workspace by the names that a dialect has for them: from requests, in answers, and in what is said
 * of a request that is wrong (wire/workspaces 1.1).
 * Invariant: this is the one place where they are renamed. A name that the dialect does not have is one that nobody knows:
 * it is ignored in a body and never in an answer.
 */
import type { WorkspacesDialect } from '../../workspaces-dialects.ts';
import type { BodyObject } from '../../json-api/body.ts';
import type { PointedProblem } from '../../json-api/errors.ts';

type Names = Pick<WorkspacesDialect, 'attributeNames'>;

/** Members of a body, called as the spec calls them. */
export function fromWireNames(sent: BodyObject, { attributeNames }: Names): BodyObject {
  const ours = Object.entries(attributeNames);
  if (ours.length === 0) return sent;
  const others = Object.entries(sent).filter(([name]) => !Object.hasOwn(attributeNames, name));
  const renamed = ours.flatMap(([name, wireName]) =>
    Object.hasOwn(sent, wireName) ? [[name, sent[wireName]] as const] : [],
  );
  return Object.fromEntries([...others, ...renamed]);
}

/** Members of a document, called as the dialect calls them. */
export function inWireNames(members: BodyObject, dialect: Names): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [wireName(name, dialect), value]));
}

/** How the dialect calls an attribute of the spec. */
export function wireName(name: string, { attributeNames }: Names): string {
  return attributeNames[name] ?? name;
}

/** What is wrong with a body, told in the names that stand in it. */
export function problemInWireNames(problem: PointedProblem, { attributeNames }: Names): PointedProblem {
  const said = (text: string): string =>
    Object.entries(attributeNames).reduce((so, [name, wire]) => so.replaceAll(name, wire), text);
  return { detail: said(problem.detail), pointer: said(problem.pointer) };
}
