extension Migration {
    /// An operator who has put right what kept an application from sending says so to everybody who waits.
    static let resumption = Migration(
        version: 38,
        name: "resumption",
        oldestProgram: 8,
        script: #"""
            -- When an operator last resumed the application: supervisors that see another time than before start its children at once.
            ALTER TABLE pushmta_engine.application_health ADD resumed_at timestamptz;
            """#
    )
}
