// The searches and filters of the workspace list, as SQL conditions over the table `w`.
// Invariant: what the client sends reaches SQL as parameters only; all conditions are combined with AND.

import type { SqlParameters } from '../database.ts';
import { type Query, queryList, queryText } from '../json-api/query.ts';

export interface Condition {
  readonly sql: string;
  readonly parameters: SqlParameters;
}

export function listConditions(query: Query): Condition[] {
  return [
    ...nameConditions(query),
    ...tagConditions(query),
    ...relatedConditions(query),
    ...tagBindingConditions(query),
  ];
}

function nameConditions(query: Query): Condition[] {
  const conditions: Condition[] = [];
  const fuzzy = queryText(query, 'search[name]');
  if (fuzzy) {
    // Fuzzy means: any part of the name, whatever the case and the separators.
    conditions.push({
      sql: `REPLACE(REPLACE(w.name, '-', ''), '_', '') LIKE :fuzzy_name ESCAPE '\\'`,
      parameters: { fuzzy_name: `%${likeText(fuzzy.replaceAll(/[-_\s]/g, ''))}%` },
    });
  }
  const wildcard = queryText(query, 'search[wildcard-name]');
  if (wildcard) {
    conditions.push({
      sql: `w.name LIKE :wildcard_name ESCAPE '\\'`,
      parameters: { wildcard_name: likeText(wildcard).replaceAll('*', '%') },
    });
  }
  return conditions;
}

/** Text without LIKE's own wildcards. */
function likeText(text: string): string {
  return text.replaceAll(/[\\%_]/g, '\\$&');
}

const TAGGED = `SELECT wt.workspace_id FROM workspace_tags wt JOIN tags t ON t.id = wt.tag_id
  WHERE t.organization_id = w.organization_id AND t.name`;

function tagConditions(query: Query): Condition[] {
  const wanted = queryList(query, 'search[tags]').map((name) => name.toLowerCase());
  const excluded = queryList(query, 'search[exclude-tags]').map((name) => name.toLowerCase());
  const conditions = wanted.map((name, index) => ({
    sql: `w.id IN (${TAGGED} = :tag_${index})`,
    parameters: { [`tag_${index}`]: name },
  }));
  if (excluded.length === 0) return conditions;
  return [
    ...conditions,
    {
      sql: `w.id NOT IN (${TAGGED} IN (SELECT value FROM json_each(:excluded_tags)))`,
      parameters: { excluded_tags: JSON.stringify(excluded) },
    },
  ];
}

function relatedConditions(query: Query): Condition[] {
  const conditions: Condition[] = [];
  const projects = queryList(query, 'filter[project][id]');
  if (projects.length > 0) {
    conditions.push({
      sql: 'w.project_id IN (SELECT value FROM json_each(:projects))',
      parameters: { projects: JSON.stringify(projects) },
    });
  }
  const statuses = queryList(query, 'filter[current-run][status]');
  if (statuses.length > 0) {
    conditions.push({
      sql: `(SELECT r.status FROM runs r WHERE r.workspace_id = w.id ORDER BY r.created_at DESC, r.id DESC LIMIT 1)
        IN (SELECT value FROM json_each(:run_statuses))`,
      parameters: { run_statuses: JSON.stringify(statuses) },
    });
  }
  return conditions;
}

/** `filter[tagged][i][key|value]` over effective bindings. Clients send an empty value where only the key matters. */
function tagBindingConditions(query: Query): Condition[] {
  const indices = new Set(
    Object.keys(query).flatMap(
      (name) => /^filter\[tagged\]\[(\d+)\]\[(?:key|value)\]$/.exec(name)?.[1] ?? [],
    ),
  );
  return [...indices].flatMap((index) => {
    const key = queryText(query, `filter[tagged][${index}][key]`) || null;
    const value = queryText(query, `filter[tagged][${index}][value]`) || null;
    if (key === null && value === null) return [];
    const names = { key: `tagged_key_${index}`, value: `tagged_value_${index}` };
    const matches = `(:${names.key} IS NULL OR b.key = :${names.key})
      AND (:${names.value} IS NULL OR b.value = :${names.value})`;
    return {
      sql: `w.id IN (SELECT b.workspace_id FROM tag_bindings b WHERE b.workspace_id IS NOT NULL AND ${matches})
        OR EXISTS (SELECT 1 FROM tag_bindings b WHERE b.project_id = w.project_id AND ${matches}
          AND NOT EXISTS (SELECT 1 FROM tag_bindings own WHERE own.workspace_id = w.id AND own.key = b.key))`,
      parameters: { [names.key]: key, [names.value]: value },
    };
  });
}
