import Store

/// Renders messages of a delivery before they leave, with the code of the children.
package struct DeliveryAnalyst: Sendable {
    /// Renders messages of a delivery that is prepared before its start. Returns nil if its messages were dropped, or it
    /// has started, meanwhile.
    let analyse: @Sendable (_ store: Store, _ job: PreparationJob) async throws -> AnalysisFindings?
    /// Makes what tries the first messages of a delivery that was not analysed; nil if its content needs no trial.
    let trial: @Sendable (_ job: PreparationJob) -> ChunkTrial?
    /// Answers what somebody asked about a delivery in SQL.
    let look: @Sendable (_ store: Store, _ look: DeliveryLook) async throws -> DeliveryLookAnswer

    package init(
        analyse: @escaping @Sendable (_ store: Store, _ job: PreparationJob) async throws -> AnalysisFindings?,
        trial: @escaping @Sendable (_ job: PreparationJob) -> ChunkTrial?,
        look: @escaping @Sendable (_ store: Store, _ look: DeliveryLook) async throws -> DeliveryLookAnswer
    ) {
        self.analyse = analyse
        self.trial = trial
        self.look = look
    }
}
