/// How a request reaches its server.
package enum CurlProxy: Sendable, Equatable {
    /// Directly; the environment is ignored.
    case none
    /// As set by the variables `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`.
    case environment
    /// Through this proxy, for example `http://proxy.example:3128`; with CONNECT for `https` servers.
    case url(String)
}
