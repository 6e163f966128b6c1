export { type Figures } from './memory.js';
export { type ModelPlan, planModel, type PlanRequest } from './plan.js';
export { Refusal } from './refusal.js';
