#pragma once

#include <chrono>
#include <filesystem>
#include <utility>

namespace alidade::detail {

/// The right to change the run in a folder, for as long as this lives: alone, or together with others who
/// each change it by transactions of their own. It is a lock on the folder itself, so it leaves no file
/// behind and goes with the process, however that ends. Readers do not need it.
class FolderLock {
public:
    enum class Kind { alone, shared };
    /// Throws RunRefused if the folder cannot be locked, or if another store holds it for as long as
    /// `patience`.
    explicit FolderLock(const std::filesystem::path& folder, Kind kind = Kind::alone,
                        std::chrono::milliseconds patience = {});
    ~FolderLock();
    FolderLock(FolderLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    FolderLock& operator=(FolderLock&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }

private:
    int descriptor_;
};

}  // namespace alidade::detail
