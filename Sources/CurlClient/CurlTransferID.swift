/// A request on its way, for ``CurlClient/cancel(_:)``.
public struct CurlTransferID: Sendable, Hashable {
    let number: UInt64
}
