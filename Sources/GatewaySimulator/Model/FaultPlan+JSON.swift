import PushCore

extension FaultPlan {
    /// Reads a plan as the control port and the command line take it.
    ///
    /// - Throws: `DecodingError` for what is no plan.
    public init(json: some Collection<UInt8>) throws {
        self = try JSONBody.decode(FaultPlan.self, from: json)
    }
}
