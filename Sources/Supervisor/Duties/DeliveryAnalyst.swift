import Store

/// Renders messages of a delivery that is prepared before its start, with the code of the children. Returns nil if its
/// messages were dropped, or it has started, meanwhile.
package typealias DeliveryAnalyst = @Sendable (_ store: Store, _ job: PreparationJob) async throws -> AnalysisFindings?
