/// The version of the product.
enum ProductVersion {
    /// As `pushmta --version` and the status tables show it.
    static let text = "0.1.0"
}
