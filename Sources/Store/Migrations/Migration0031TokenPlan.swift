extension Migration {
    /// Token events cost the same with and without statistics of their tables.
    ///
    /// After an import, or soon after an installation, the planner expects a handful of events where thousands are; it then looked for each
    /// event's row through the whole list of ids, one event after the other: four seconds for 2,000 events instead of a tenth of one.
    static let tokenPlan = Migration(
        version: 31,
        name: "token plan",
        oldestProgram: 8,
        script: "ALTER FUNCTION pushmta_engine.apply_invalid_tokens(integer) SET enable_nestloop = off;"
    )
}
