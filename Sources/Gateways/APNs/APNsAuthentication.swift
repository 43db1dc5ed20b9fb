/// What a way to APNs proves itself with.
public enum APNsAuthentication: Sendable {
    /// The one token source of the application's key in this process.
    case providerTokens(ProviderTokenSource)
    /// The application's certificate, with the TLS connection itself.
    case certificate(ClientCertificate)
}
