/**
 * The files for a CI as init copies them: the examples themselves, and the action. The bundle has their texts in place of this file
 * (scripts/bundle-plugins.ts).
 */
import { readFileSync } from 'node:fs';

/** Relative to the root of the package. */
const paths = [
  'action.yml',
  'examples/ci/github/pull-request.yml',
  'examples/ci/github/apply.yml',
  'examples/ci/gitlab/.gitlab-ci.yml',
] as const;

export const ciTexts = Object.fromEntries(
  paths.map((path) => [path, readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8')]),
) as Readonly<Record<(typeof paths)[number], string>>;
