import PushCore

/// The kinds of gateways that a process knows. Of several that serve the same accounts, the first one counts.
package struct GatewayRegistry: Sendable {
    package let kinds: [any GatewayKind]

    package init(_ kinds: [any GatewayKind]) {
        self.kinds = kinds
    }

    /// The kind that serves accounts of a connector with this kind of credential; nil if the connector does not accept
    /// it.
    package func kind(of connector: Connector, with credential: CredentialKind) -> (any GatewayKind)? {
        kinds.first { $0.connectors.contains(connector) && $0.credentials.contains(credential) }
    }

    /// The kind that represents a connector until a credential selects another.
    package func kind(of connector: Connector) -> (any GatewayKind)? {
        kinds.first { $0.connectors.contains(connector) }
    }
}
