/// A sealed secret of a webhook.
package struct SealedWebhookSecret: Sendable, Hashable {
    package let id: Int64
    package let sealKeyID: String
    package let sealed: [UInt8]

    package init(id: Int64, sealKeyID: String, sealed: [UInt8]) {
        self.id = id
        self.sealKeyID = sealKeyID
        self.sealed = sealed
    }
}
