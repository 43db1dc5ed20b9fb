import Foundation

/// The address of a marketing or tracking server, as an app gives it.
///
/// The old SDK accepted `https://host:port/`, the newer one `host[:port][/path]`. Both are accepted; without a scheme
/// it is https.
enum ServerHost {
    /// The address without a slash at its end; nil if the text is not a valid address.
    static func base(_ text: String?) -> String? {
        guard var base = text?.trimmingCharacters(in: .whitespacesAndNewlines), !base.isEmpty else { return nil }
        if !base.contains("://") { base = "https://" + base }
        while base.hasSuffix("/") { base.removeLast() }
        guard let url = URL(string: base), let scheme = url.scheme?.lowercased(), ["http", "https"].contains(scheme),
            let host = url.host, !host.isEmpty, url.query == nil, url.fragment == nil
        else { return nil }
        return base
    }
}
