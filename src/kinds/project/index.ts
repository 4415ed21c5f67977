/**
 * The kind Project: one project of an organization. Its settings grant no access, so no change of them widens access;
 * `effects.ts` finds the resources that a change destroys.
 */
import { namedByProjects } from '../../api/workspaces/named-objects.ts';
import { projectKind } from '../../api/workspaces/projects.ts';
import { returnedResource } from '../../api/workspaces/workspace.ts';
import { defineKind, jsonSchema } from '../../model/define-kind.ts';
import type { NameRule } from '../../model/kind.ts';
import { calls } from './calls.ts';
import { check } from './check.ts';
import { fields, type LiveProject } from './fields.ts';
import { blockers, contents, permanent, prepare } from './prepare.ts';
import { fieldsFromResponse, read, readOne } from './read.ts';
import { type ProjectSpec, projectSpec } from './schema.ts';

const names: NameRule = {
  pattern: /^[A-Za-z0-9_-](?:[A-Za-z0-9 _-]{0,88}[A-Za-z0-9_-])?$/,
  description: 'at most 90 letters, digits, spaces, "-" and "_", without a space at its ends',
};

export const project = defineKind<ProjectSpec, LiveProject>({
  name: projectKind,
  service: 'workspaces',
  summary: 'A project: a group of workspaces, and the settings that they inherit',
  names,
  specSchema: jsonSchema(projectSpec),
  fields,
  ownership: { by: 'claim', foundByLedgerOnly: true },
  absent: 'unmanaged',
  check,
  named: namedByProjects,
  read,
  readOne,
  fieldsFromResponse,
  returnedResource,
  prepare,
  calls,
  risk: () => [],
  blockers,
  permanent,
  contents,
});
