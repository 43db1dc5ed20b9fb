/// The way that a request takes to its server.
public enum CurlProxy: Sendable, Equatable {
    /// Directly, whatever the environment says.
    case none
    /// As the variables `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy` say.
    case environment
    /// Through this proxy, for example `http://proxy.example:3128`; `https` servers by CONNECT.
    case url(String)
}
