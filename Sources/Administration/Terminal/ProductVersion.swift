/// The version of the product.
package enum ProductVersion {
    /// As `pushmta --version` and the status tables show it.
    package static let text = "0.1.0"
}
