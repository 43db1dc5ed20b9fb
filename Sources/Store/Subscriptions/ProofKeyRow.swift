import PushCore

/// A key that verifies a service's proofs of user keys, as it is stored.
package struct ProofKeyRow: Sendable, Hashable {
    /// Its id, which the seal of a secret authenticates; from the sequence of credential ids.
    package let id: Int64
    package let serviceID: Int32
    /// The `kid` by which tokens name it.
    package let keyID: String
    package let algorithm: UserKeyProofAlgorithm
    /// The 65 bytes of a public key's point; nil for a secret.
    package let publicKey: [UInt8]?
    /// The sealed secret, nil for a public key; never logged.
    package let sealed: [UInt8]?
    package let sealKeyID: String?

    package init(
        id: Int64,
        serviceID: Int32,
        keyID: String,
        algorithm: UserKeyProofAlgorithm,
        publicKey: [UInt8]? = nil,
        sealed: [UInt8]? = nil,
        sealKeyID: String? = nil
    ) {
        self.id = id
        self.serviceID = serviceID
        self.keyID = keyID
        self.algorithm = algorithm
        self.publicKey = publicKey
        self.sealed = sealed
        self.sealKeyID = sealKeyID
    }
}
