/// A supervisor's order to its children for one trace.
package struct TraceOrder: Sendable, Codable, Equatable {
    /// The number of the trace, repeated in reports about it.
    package var id: Int64
    /// Seconds that it continues from now; 0 ends it.
    package var seconds: Int
    /// See ``TraceRequest``.
    package var tokenHash: String?
    /// See ``TraceRequest``.
    package var deliveryID: Int64?
    /// See ``TraceRequest``.
    package var perSecond: Int
    /// See ``TraceRequest``.
    package var isUnmasked: Bool

    /// The order for a request.
    package init(id: Int64, _ request: TraceRequest) {
        self.id = id
        seconds = TraceLimits.orderSeconds
        tokenHash = request.tokenHash?.lowercased()
        deliveryID = request.deliveryID
        perSecond = request.perSecond
        isUnmasked = request.isUnmasked
    }

    /// The order that ends it.
    package var ending: TraceOrder {
        var order = self
        order.seconds = 0
        return order
    }
}
