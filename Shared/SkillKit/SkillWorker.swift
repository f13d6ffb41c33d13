/// Runs skills as a worker process.
public enum SkillWorker {}
