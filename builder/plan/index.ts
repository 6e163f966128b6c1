export { type FormatForecast } from './forecast.js';
export { type ModelPlan, planModel, type PlanRequest } from './plan.js';
export { Refusal } from './refusal.js';
