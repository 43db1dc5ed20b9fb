/// One step of the schema; released steps never change.
struct Migration: Sendable {
    /// Its number; steps are applied in order.
    let version: Int32
    /// What it is called in `schema_version`.
    let name: String
    /// The oldest program, by the schema version it was made for, that works with this schema too: two versions run side
    /// by side during an upgrade as long as this allows it.
    let oldestProgram: Int32
    /// SQL, run in one transaction.
    let script: String

    init(version: Int32, name: String, oldestProgram: Int32? = nil, script: String) {
        self.version = version
        self.name = name
        self.oldestProgram = oldestProgram ?? version
        self.script = script
    }

    /// All steps in order.
    static let all: [Migration] = [
        .foundations, .deliveries, .parts, .logs, .status, .views, .functions, .roles,
        .endurance, .control, .tokenEffects, .accounts, .fairLock, .safeguards,
        .credentials, .answers, .targets, .templates, .registration, .tracking, .messages,
        .feedback, .api, .loading, .holds,
        .names, .spools, .feedbackServices, .carefulRetention, .tokenPlan,
        .acceptance, .trouble, .strangers, .dataAtRest, .inputChecks, .resumption,
    ]
}
