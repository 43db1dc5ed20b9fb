import HTTPTypes

/// A page before rendering.
struct ConsolePage: Sendable {
    /// The name of its template.
    var template: String
    /// Its title, also used as its first heading.
    var title: String
    var values: PageValues
    var status: HTTPResponse.Status
    /// Cookies to set.
    var cookies: [String]

    init(
        _ template: String,
        title: String,
        _ values: PageValues = [:],
        status: HTTPResponse.Status = .ok,
        cookies: [String] = []
    ) {
        self.template = template
        self.title = title
        self.values = values
        self.status = status
        self.cookies = cookies
    }
}
