import Store

/// Renders messages of a delivery that is prepared before its start, with the code of the children.
package typealias DeliveryAnalyst = @Sendable (_ store: Store, _ job: PreparationJob) async throws -> AnalysisFindings
