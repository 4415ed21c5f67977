/**
 * Checks an expression before it is used: its size, its depth, and each name in it. CEL itself takes a misspelt member of a map for a
 * missing one, so that a rule with `has()` would pass silently. Runs in the worker.
 */
import type { Expr } from '@bufbuild/cel-spec/cel/expr/syntax_pb.js';
import { nearestWord } from '../model/nearest-word.ts';
import { orList, quoted } from '../model/quoted.ts';

/** Bytes of an expression, at most. */
export const maxExpression = 4096;
/** Levels of an expression, at most. */
const maxDepth = 50;

export interface ExpressionProblem {
  readonly message: string;
  readonly fix?: string;
}

/** What is known about a value: its members, or its elements. If a shape is undefined, nothing is known. */
export interface Shape {
  readonly members?: Readonly<Record<string, Shape | undefined>>;
  readonly element?: Shape;
}

interface Scope {
  readonly path: string;
  readonly names: Readonly<Record<string, Shape | undefined>>;
  hasFunction(name: string): boolean;
  report(problem: ExpressionProblem): void;
}

/** Counts brackets outside of texts, because the parser may not return from deep nesting. @returns why the text is refused */
export function tooDeepText(text: string): ExpressionProblem | undefined {
  let depth = 0;
  let deepest = 0;
  const outside = text.replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '');
  for (const character of outside) {
    if ('([{'.includes(character)) deepest = Math.max(deepest, ++depth);
    else if (')]}'.includes(character)) depth--;
  }
  return deepest > maxDepth ? tooDeep : undefined;
}

const tooDeep: ExpressionProblem = {
  message: `the expression is nested more than ${maxDepth} levels deep`,
  fix: 'divide it among several policies',
};

/** @param names the variables of the expression, by name */
export function checkExpression(
  expr: Expr,
  { names, hasFunction }: Pick<Scope, 'names' | 'hasFunction'>,
): readonly ExpressionProblem[] {
  if (depthOf(expr) > maxDepth) return [tooDeep];
  const problems = new Map<string, ExpressionProblem>();
  shapeOf(expr, {
    path: '',
    names,
    hasFunction,
    report: (problem) => problems.set(problem.message, problem),
  });
  return [...problems.values()];
}

function depthOf(expr: Expr): number {
  let depth = 0;
  let level: readonly Expr[] = [expr];
  while (level.length > 0 && depth <= maxDepth) {
    depth++;
    level = level.flatMap(childrenOf);
  }
  return depth;
}

function childrenOf({ exprKind }: Expr): Expr[] {
  const found = (() => {
    switch (exprKind.case) {
      case 'selectExpr':
        return [exprKind.value.operand];
      case 'callExpr':
        return [exprKind.value.target, ...exprKind.value.args];
      case 'listExpr':
        return exprKind.value.elements;
      case 'structExpr':
        return exprKind.value.entries.flatMap(({ keyKind, value }) => [
          keyKind.case === 'mapKey' ? keyKind.value : undefined,
          value,
        ]);
      case 'comprehensionExpr': {
        const { iterRange, accuInit, loopCondition, loopStep, result } = exprKind.value;
        return [iterRange, accuInit, loopCondition, loopStep, result];
      }
      default:
        return [];
    }
  })();
  return found.filter((one) => one !== undefined);
}

/** Checks an expression and all that is in it. @returns what is known about its value */
function shapeOf(expr: Expr, scope: Scope): Shape | undefined {
  const { exprKind } = expr;
  switch (exprKind.case) {
    case 'identExpr':
      return shapeOfName(exprKind.value.name, scope);
    case 'selectExpr': {
      const { operand, field } = exprKind.value;
      return operand === undefined ? undefined : shapeOfMember(operand, field, scope);
    }
    case 'callExpr':
      return shapeOfCall(expr, scope);
    case 'comprehensionExpr': {
      const { iterRange, accuInit, loopCondition, loopStep, result, iterVar, iterVar2, accuVar } =
        exprKind.value;
      const range = iterRange && shapeOf(iterRange, scope);
      if (accuInit) shapeOf(accuInit, scope);
      const bound = {
        [iterVar]: range?.element,
        [iterVar2 || iterVar]: range?.element,
        [accuVar]: undefined,
      };
      const inner = { ...scope, names: { ...scope.names, ...bound } };
      for (const part of [loopCondition, loopStep, result]) if (part) shapeOf(part, inner);
      return undefined;
    }
    default:
      for (const child of childrenOf(expr)) shapeOf(child, scope);
      return undefined;
  }
}

function shapeOfName(name: string, { names, report }: Scope): Shape | undefined {
  if (Object.hasOwn(names, name)) return names[name];
  // The names of types are values as well.
  if (/^(int|uint|double|bool|string|bytes|list|map|null_type|type)$/.test(name)) return undefined;
  const shown = Object.keys(names).filter((one) => !one.startsWith('@'));
  report({ message: `there is no variable ${quoted(name)}`, fix: hint(name, shown) });
  return undefined;
}

function shapeOfMember(operand: Expr, field: string, scope: Scope): Shape | undefined {
  const members = shapeOf(operand, scope)?.members;
  if (members === undefined) return undefined;
  if (Object.hasOwn(members, field)) return members[field];
  const of = nameOf(operand);
  scope.report({
    message: `${of === undefined ? 'the value' : quoted(of)} has no member ${quoted(field)}`,
    fix: hint(field, Object.keys(members)),
  });
  return undefined;
}

function shapeOfCall(expr: Expr, scope: Scope): Shape | undefined {
  if (expr.exprKind.case !== 'callExpr') return undefined;
  const { function: name, target, args } = expr.exprKind.value;
  const [first, second] = args;
  if (name === '_[_]' && first && second) {
    const key = textIn(second);
    if (key !== undefined) return shapeOfMember(first, key, scope);
    shapeOf(second, scope);
    return shapeOf(first, scope)?.element;
  }
  if (name === '@in' && first && second) {
    const key = textIn(first);
    const members = shapeOf(second, scope)?.members;
    if (key !== undefined && members !== undefined) shapeOfMember(second, key, scope);
    shapeOf(first, scope);
    return undefined;
  }
  if (!scope.hasFunction(name)) scope.report({ message: `there is no function ${quoted(name)}` });
  if (target) shapeOf(target, scope);
  const shapes = args.map((arg) => shapeOf(arg, scope));
  return name === '_?_:_' ? (shapes[1] ?? shapes[2]) : undefined;
}

function textIn({ exprKind }: Expr): string | undefined {
  if (exprKind.case !== 'constExpr') return undefined;
  const { constantKind } = exprKind.value;
  return constantKind.case === 'stringValue' ? constantKind.value : undefined;
}

function nameOf({ exprKind }: Expr): string | undefined {
  if (exprKind.case === 'identExpr') return exprKind.value.name;
  if (exprKind.case !== 'selectExpr' || exprKind.value.operand === undefined) return undefined;
  const of = nameOf(exprKind.value.operand);
  return of === undefined ? undefined : `${of}.${exprKind.value.field}`;
}

function hint(word: string, known: readonly string[]): string {
  const near = nearestWord(word, known);
  if (near !== undefined) return `did you mean ${quoted(near)}?`;
  return known.length <= 12
    ? `there are ${orList(known).replace(' or ', ' and ')}`
    : 'see the fields of the kind';
}
