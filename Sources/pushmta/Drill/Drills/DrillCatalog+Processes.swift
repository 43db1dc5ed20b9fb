import PushCore

extension DrillCatalog {
    /// Processes that are killed or stopped.
    static let processes: [any Drill] = [
        KillChildrenDrill(policy: .resend), KillChildrenDrill(policy: .report), KillSupervisorDrill(), KillAllDrill(),
        StopChildDrill(hasUsualLease: false), StopChildDrill(hasUsualLease: true), JournalDiskFullDrill(),
    ]
}
