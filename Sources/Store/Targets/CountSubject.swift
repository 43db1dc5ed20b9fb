/// What the count of a delivery's target needs to know of the delivery, besides the target.
struct CountSubject: Sendable {
    /// Whether it goes to a list of targets.
    let isListed: Bool
    /// Whether a subscription that is listed twice gets two messages.
    let allowsDuplicates: Bool
    /// The delivery's category in each service that has it.
    let categoryIDs: [Int32]
    let holdOut: TargetSampler.HoldOut?
    /// The blocks of persons of whom the history has something; empty if its filter does not ask what people did.
    let behaviourBlocks: [Int32]
    /// By name.
    let applications: [Int32]
    let names: [String]

    /// Parameters: $1 delivery, $2 whether its filter asks what people did.
    static let sql = """
        SELECT d.target_kind = 'explicit', d.allow_duplicates, \(categoriesSQL), e.seed, e.hold_out::text,
            CASE WHEN $2 THEN pushmta_engine.behaviour_blocks(ARRAY(SELECT a.service_id \(applicationsSQL))) ELSE '{}' END,
            ARRAY(SELECT a.id \(applicationsSQL)), ARRAY(SELECT a.name \(applicationsSQL))
        FROM pushmta_engine.delivery d LEFT JOIN pushmta_engine.experiment e ON e.delivery_id = d.id AND e.hold_out > 0
        WHERE d.id = $1
        """

    private static let categoriesSQL = """
        ARRAY(SELECT DISTINCT x.category_id FROM pushmta_engine.delivery_application x
            WHERE x.delivery_id = d.id AND x.category_id IS NOT NULL ORDER BY 1)
        """

    private static let applicationsSQL = """
        FROM pushmta_engine.delivery_application x JOIN pushmta_engine.application a ON a.id = x.application_id
            WHERE x.delivery_id = d.id ORDER BY a.name
        """

    init(_ row: inout RowReader) throws {
        isListed = try row.bool()
        allowsDuplicates = try row.bool()
        categoryIDs = try row.int32Array()
        let (seed, share) = (try row.int64OrNil(), try row.textOrNil())
        holdOut = seed.flatMap { seed in share.map { TargetSampler.HoldOut(seed: seed, share: $0) } }
        behaviourBlocks = try row.int32Array()
        applications = try row.int32Array()
        names = try row.textArray()
    }
}
