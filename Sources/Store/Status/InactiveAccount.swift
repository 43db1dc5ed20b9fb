/// A delivery that waits because an external account is not active.
public struct InactiveAccount: Sendable, Hashable {
    /// The delivery.
    public let deliveryID: Int64
    /// The account's name.
    public let account: String

    /// A delivery with an account.
    public init(deliveryID: Int64, account: String) {
        self.deliveryID = deliveryID
        self.account = account
    }
}
