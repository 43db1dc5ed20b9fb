/// An observer of the exchanges on the wire; every method is called on the gateway's event loop.
package protocol GatewayTracer: AnyObject, Sendable {
    /// Which of these messages, which are about to leave together, are to be traced.
    ///
    /// Called once for all messages before they leave. A check at each message's end would lower the rate, and so would
    /// keeping every answer's header fields for the few that are shown.
    ///
    /// - Parameter token: the push token of a message.
    /// - Returns: the traces that want to see a message, by its index below the count.
    func choose(from count: Int, ofDelivery id: Int64, token: (Int) -> ArraySlice<UInt8>) -> [Int32: [Int64]]

    /// A request that these traces want to see has ended.
    func saw(_ exchange: CopiedExchange, for traces: [Int64])
}
